import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { assert } from '@tollbook/core/assert'

const program = fileURLToPath(import.meta.resolve('autocannon'))
const report = z.object({
  requests: z.object({ average: z.number() }),
  '2xx': z.number(),
  '4xx': z.number(),
  '5xx': z.number(),
  errors: z.number(),
})

export interface Load {
  readonly url: string
  readonly seconds: number
  readonly connections: number
  readonly headers: Readonly<Record<string, string>>
  /** Sent as JSON by POST. */
  readonly body?: object | undefined
  /** Replaces `[<id>]` in headers by a new text for each request, which costs the client some time. */
  readonly replacesIds?: boolean
  /** Condition on every answer; otherwise the figure would count something else. */
  readonly expected: '2xx' | '4xx'
}

/** Answers a second under load from another process, which is the same for everything that is compared. */
export async function answersPerSecond(load: Load): Promise<number> {
  const { url, seconds, connections, headers, body, replacesIds = false, expected } = load
  const words = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`])
  const options = [
    '--json',
    '-c',
    String(connections),
    '-d',
    String(seconds),
    ...words,
    ...(body === undefined ? [] : ['-m', 'POST', '-H', 'content-type=application/json', '-b', JSON.stringify(body)]),
    ...(replacesIds ? ['-I'] : []),
    url,
  ]
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...options])
  const found = report.parse(JSON.parse(stdout))
  const others = found['2xx'] + found['4xx'] + found['5xx'] + found.errors - found[expected]
  assert(others === 0, `every answer is ${expected}, not ${JSON.stringify(found)}`)
  return found.requests.average
}
