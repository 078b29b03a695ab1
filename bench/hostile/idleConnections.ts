import type { Attack } from './attack.ts'
import { holdConnections } from './heldConnections.ts'

/** Connections on which nothing is sent but the beginning of a request. */
export const idleConnections: Attack = {
  name: '1,000 idle connections',
  start: (target) => holdConnections(target, { count: 1_000, bytes: 'GET / HTTP/1.1\r\nHost: ', reads: true }),
}
