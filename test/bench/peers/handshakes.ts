/**
 * Opens TLS 1.3 connections one after another in a few parallel sequences, each with a full handshake for a hostname
 * drawn at random, for some seconds; with 0 seconds, one for every hostname. Prints the number of handshakes.
 * Arguments: port, number of hostnames, seconds, seed.
 */
import { connect } from 'node:tls';

const CLIENTS = 8;

const [port = 0, hostnames = 1, seconds = 1, seed = 1] = process.argv.slice(2).map(Number);
const endMs = performance.now() + seconds * 1_000;
let state = seed;
let begun = 0;
let done = 0;
let running = CLIENTS;

/** Lehmer's generator: the same names in the same order for both sides of a comparison. */
function draw(below: number): number {
  state = (state * 48_271) % 2_147_483_647;
  return state % below;
}

function open(): void {
  const isOver = seconds === 0 ? begun === hostnames : performance.now() >= endMs;
  if (isOver) {
    if (--running === 0) console.log(`handshakes ${done}`);
    return;
  }
  const servername = `d${seconds === 0 ? begun : draw(hostnames)}.bench.test`;
  begun++;
  const options = { host: '127.0.0.1', port, servername, minVersion: 'TLSv1.3' as const, rejectUnauthorized: false };
  const socket = connect(options, () => {
    done++;
    socket.end();
  });
  socket.on('error', (error) => {
    console.error(`${servername}: ${error.message}`);
    process.exit(1);
  });
  socket.on('close', open);
  socket.resume();
}

for (let number = 0; number < CLIENTS; number++) open();
