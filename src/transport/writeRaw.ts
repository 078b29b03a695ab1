import type { ServerResponse } from 'node:http'
import { newId } from '@tollbook/core/id'
import type { Answer } from '../paywall/answer.ts'

/** Writes an answer without Koa: before a route is involved, and in the thread that answers health checks. */
export function writeRaw(response: ServerResponse, { status, headers, body }: Answer, isHead = false): void {
  response.writeHead(status, {
    ...headers,
    'x-request-id': newId('request'),
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(body),
  })
  response.end(isHead ? undefined : body)
}
