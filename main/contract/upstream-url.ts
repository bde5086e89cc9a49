/** `5173`, and `localhost:5173`, `192.0.2.1:5173` or `localhost:5173/base`. */
const PORT = /^[0-9]{1,5}$/;
const HOST_AND_PORT = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\]):[0-9]{1,5}(?:\/.*)?$/i;

/** The URL of an upstream as typed: `5173` and `localhost:5173` are over HTTP; any other text is unchanged. */
export function completeUrl(text: string): string {
  const address = PORT.test(text) ? `localhost:${text}` : text;
  return HOST_AND_PORT.test(address) ? `http://${address}` : address;
}
