export function showLine(
  title: string,
  out?: { write(text: string): unknown; isTTY?: boolean },
): { show(text?: string): void; note(text: string): void; end(text?: string): void };
