import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { untilStopped } from '../../src/cli/untilStopped.ts'

const listeners = () => [...process.listeners('SIGTERM'), ...process.listeners('SIGINT')]

test.each([
  ['is aborted', (lost: AbortController) => lost.abort()],
  ['was reported by a signal', () => void process.emit('SIGTERM')],
])('nothing listens for signals of the process once its end %s', async (_, end) => {
  const before = listeners()
  const lost = new AbortController()
  const stopped = untilStopped(lost.signal)
  end(lost)
  await stopped
  expect(listeners().filter((listener) => !before.includes(listener))).toEqual([])
})

const module = JSON.stringify(new URL('../../src/cli/untilStopped.ts', import.meta.url).href)
// Closing takes until its input ends.
const program = `
import { closeWhenStopped } from ${module}
import { once } from 'node:events'
process.stdin.resume()
const closed = closeWhenStopped(new AbortController().signal, {
  onStopping: () => console.log('stopping'),
  onSignal: (name) => console.log('again ' + name),
  close: () => once(process.stdin, 'end'),
})
console.log('ready')
await closed
console.log('stopped')`

test('a second signal is reported, and does not cut what is still answered', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const said: string[] = []
  const gone = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line)
    if (line === 'ready' || line === 'stopping') child.kill('SIGTERM')
    if (line === 'again SIGTERM') child.kill('SIGINT')
    if (line === 'again SIGINT') child.stdin.end()
  }
  expect(said).toEqual(['ready', 'stopping', 'again SIGTERM', 'again SIGINT', 'stopped'])
  expect(await gone).toEqual([0, null])
})
