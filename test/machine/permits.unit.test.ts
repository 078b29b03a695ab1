import { expect, test } from 'vitest'
import { createPermits } from '../../src/machine/permits.ts'

const patient = new AbortController().signal

test('two enter at once, others in the order of arrival, and one who gives up takes no permit', async () => {
  const permits = createPermits(2)
  const entered: string[] = []
  const enter = async (name: string, signal = patient) => {
    const leave = await permits.enter(signal)
    entered.push(name)
    return leave
  }
  const [leaveA, leaveB] = await Promise.all([enter('a'), enter('b')])
  const impatient = new AbortController()
  const c = enter('c', impatient.signal)
  const d = enter('d')
  impatient.abort()
  await expect(c).rejects.toThrow('aborted')
  expect(entered).toEqual(['a', 'b'])
  leaveA()
  // Leaving twice frees one permit.
  leaveA()
  await d
  const e = enter('e')
  expect(entered).toEqual(['a', 'b', 'd'])
  leaveB()
  await e
  expect(entered).toEqual(['a', 'b', 'd', 'e'])
  await expect(enter('f', AbortSignal.abort())).rejects.toThrow('aborted')
})
