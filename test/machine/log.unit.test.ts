import { expect, test } from 'vitest'
import { createLog } from '../../src/machine/log.ts'

test('a line has its level by name, the time and the event, and no secret that was logged by mistake', () => {
  const lines: string[] = []
  const log = createLog({ level: 'info', name: 'till', destination: { write: (line) => void lines.push(line) } })
  log.debug({ event: 'left_out' })
  log.warn({
    event: 'x',
    proof: 'planted',
    request: { authorization: 'planted', password: 'planted', secret: 'planted' },
  })
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    name: 'till',
    event: 'x',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    proof: '[redacted]',
  })
  expect(lines[0]).not.toContain('planted')
})
