import { setPriority } from 'node:os'
import { setInterval } from 'node:timers'
import { request } from 'node:http'
import { systemClock } from '@tollbook/core/clock'

/*
 * Asks for /livez ten times a second on a new connection each time, as an orchestrator does: `node proberProcess.ts
 * PORT`. Writes a line for each answer. The end of stdin ends it.
 */
// Its own delays must not count as the server's.
setPriority(-10)
const port = Number(process.argv[2])
const everyMs = 100
const timeoutMs = 5_000

function probe(): void {
  const startedAtMs = systemClock.monotonicMs()
  const tell = (status: number) => {
    const durationMs = systemClock.monotonicMs() - startedAtMs
    process.stdout.write(`${JSON.stringify({ status, durationMs })}\n`)
  }
  const asked = request({ port, host: '127.0.0.1', path: '/livez', agent: false, timeout: timeoutMs }, (response) => {
    response.resume().once('end', () => tell(response.statusCode ?? 0))
  })
  asked.once('timeout', () => asked.destroy(new Error('no answer in time')))
  asked.once('error', () => tell(0))
  asked.end()
}

const probing = setInterval(probe, everyMs)
process.stdin.resume().once('end', () => {
  clearInterval(probing)
  process.exit()
})
