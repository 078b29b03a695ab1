import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { systemClock } from '@tollbook/core/clock'

test('a sleep that is aborted rejects with the reason, and leaves neither its timer nor its listener', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const stop = new AbortController()
    const [aborted, slept] = [systemClock.sleep(2_000, stop.signal), systemClock.sleep(1_000, stop.signal)]
    expect(vi.getTimerCount()).toBe(2)
    vi.advanceTimersByTime(1_000)
    await slept
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
    stop.abort(new Error('the service stops'))
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError', cause: { message: 'the service stops' } })
    expect([vi.getTimerCount(), getEventListeners(stop.signal, 'abort')]).toEqual([0, []])
    await expect(systemClock.sleep(1, stop.signal)).rejects.toMatchObject({ name: 'AbortError' })
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
