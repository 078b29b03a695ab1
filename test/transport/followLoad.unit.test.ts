import { expect, test } from 'vitest'
import { followLoad } from '../../src/transport/followLoad.ts'

test('each window has the mean time of its own quotes and says whether payers were served', () => {
  const load = followLoad()
  try {
    expect(load.read(), 'before the first request').toMatchObject({ quoteMs: 0, servesPayers: false })
    load.quoted(600)
    load.quoted(400)
    load.sawPayer()
    expect(load.read()).toMatchObject({ quoteMs: 500, servesPayers: true })
    expect(load.read(), 'the next window').toMatchObject({ quoteMs: 0, servesPayers: false })
  } finally {
    load.close()
  }
})

test('a few requests do not count as a flood, however late the loop is', () => {
  const load = followLoad()
  try {
    // The loop does not turn between opening and reading, which counts as a lag of the whole window.
    load.arrived()
    expect(load.read().lagMs).toBeGreaterThan(0)
    expect(load.isFlood()).toBe(false)
  } finally {
    load.close()
  }
})
