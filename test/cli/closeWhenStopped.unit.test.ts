import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { closeWhenStopped } from '../../src/cli/closeWhenStopped.ts'
import { silentLog } from '../../src/machine/log.ts'

const listeners = () => [...process.listeners('SIGTERM'), ...process.listeners('SIGINT')]

test.each([
  ['is aborted', (lost: AbortController) => lost.abort()],
  ['was reported by a signal', () => void process.emit('SIGTERM')],
])('a program is closed once its end %s, and then listens for no signal', async (_, end) => {
  const before = listeners()
  const lost = new AbortController()
  const closed: string[] = []
  const close = () => Promise.resolve(void closed.push('closed'))
  const stopped = closeWhenStopped({ lost: lost.signal, log: silentLog, close })
  expect(closed).toEqual([])
  end(lost)
  await stopped
  expect(closed).toEqual(['closed'])
  expect(listeners().filter((listener) => !before.includes(listener))).toEqual([])
})

test('a part that is lost before the program waits closes the program', async () => {
  await closeWhenStopped({ lost: AbortSignal.abort(), log: silentLog, close: () => Promise.resolve() })
})

const module = JSON.stringify(new URL('../../src/cli/closeWhenStopped.ts', import.meta.url).href)
// Closing takes until its input ends.
const program = `
import { closeWhenStopped, untilStdinEnds } from ${module}
const say = ({ event, signal = '' }) => console.log(event + signal)
const lost = process.argv.includes('child') ? untilStdinEnds(true) : undefined
const ended = untilStdinEnds(true)
const close = () => ended.aborted ? undefined : new Promise((resolve) => ended.addEventListener('abort', resolve))
const closed = closeWhenStopped({ lost, log: { info: say, warn: say }, close })
console.log('ready')
await closed`

function start(...words: string[]) {
  const options = ['--input-type=module', '--eval', program, ...words]
  return spawn(process.execPath, options, { stdio: ['pipe', 'pipe', 'inherit'] })
}

test('a second signal is reported, and does not cut what is still answered', async () => {
  const child = start()
  const said: string[] = []
  const gone = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line)
    if (line === 'ready' || line === 'stopping') child.kill('SIGTERM')
    if (line === 'still_stoppingSIGTERM') child.kill('SIGINT')
    if (line === 'still_stoppingSIGINT') child.stdin.end()
  }
  expect(said).toEqual(['ready', 'stopping', 'still_stoppingSIGTERM', 'still_stoppingSIGINT', 'stopped'])
  expect(await gone).toEqual([0, null])
})

test('a program ends with the process that started it', async () => {
  const child = start('child')
  const said: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line)
    if (line === 'ready') child.stdin.end()
  }
  expect(said).toEqual(['ready', 'stopping', 'stopped'])
})
