/** The hostname whose *Connect* dialog is open. Any address of the page can open it. */
export class Connecting {
  hostname = $state<string>();

  open(hostname: string): void {
    this.hostname = hostname;
  }

  close(): void {
    this.hostname = undefined;
  }
}
