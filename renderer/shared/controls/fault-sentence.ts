/**
 * The fault of a field as a sentence below it: the engine's message, which continues the field's name, without remarks
 * about JSON.
 */
export function faultSentence(message: string): string {
  const text = message
    .replace(/, as a string of decimal digits.*$/, '')
    .replace(/^is required: (?:a string|a number|an integer)$/, 'is required');
  if (!/^[a-z]/.test(text)) return text;
  return `It ${text}${/[.!?]$/.test(text) ? '' : '.'}`;
}
