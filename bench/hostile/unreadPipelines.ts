import type { Attack } from './attack.ts'
import { holdConnections } from './heldConnections.ts'

const request = 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** Pipelined requests for the longest free answer, which is never read. */
export const unreadPipelines: Attack = {
  name: '50 unread pipelines',
  start: (target) => holdConnections(target, { count: 50, bytes: request.repeat(200), everyMs: 100, reads: false }),
}
