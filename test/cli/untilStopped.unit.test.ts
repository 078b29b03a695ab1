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
