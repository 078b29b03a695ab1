import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
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

const urlOf = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)
const [module, logModule] = [urlOf('cli/closeWhenStopped.ts'), urlOf('machine/log.ts')]
// Closing takes until its input ends.
const program = `
import { closeWhenStopped, endWithParent } from ${module}
import { createLog } from ${logModule}
const say = ({ event, signal = '' }) => console.log(event + signal)
const isChild = process.argv.includes('child')
const log = isChild ? createLog({ level: 'info', name: 'child' }) : { info: say, warn: say }
const ended = new Promise((resolve) => process.stdin.resume().once('end', resolve))
const close = () => isChild ? undefined : ended
const closed = closeWhenStopped({ ...endWithParent(isChild, log), close })
console.log('ready')
await closed
process.exit(0)`

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

test('a program ends with the process that started it, which is also gone as the reader of its log', async () => {
  const child = start('child')
  onTestFinished(() => void child.kill('SIGKILL'))
  const gone = once(child, 'exit')
  await once(child.stdout, 'data')
  child.stdout.destroy()
  child.stdin.end()
  expect(await gone).toEqual([0, null])
})
