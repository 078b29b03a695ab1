import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import { failureText } from '../../src/cli/reportFailure.ts'

test('a fault is printed with its reason and without a stack', () => {
  const cause = new Error('connect ECONNREFUSED 127.0.0.1:5432')
  expect(failureText(new Fault('no database', { cause, retryable: true }))).toBe(
    'no database: connect ECONNREFUSED 127.0.0.1:5432',
  )
})

test('a file that cannot be written is named without a stack', async () => {
  const error: unknown = await writeFile('/nowhere/key.json', '').catch((thrown: unknown) => thrown)
  expect(failureText(error)).toBe("ENOENT: no such file or directory, open '/nowhere/key.json'")
})

test('a defect of the program is printed with its stack', () => {
  expect(failureText(new TypeError('x is undefined'))).toMatch(/^TypeError: x is undefined\n {4}at /)
})

const module = JSON.stringify(new URL('../../src/cli/reportFailure.ts', import.meta.url).href)

test.each([
  [1, 'Error: no', "new Error('no')"],
  [2, '--every: is missing', "new UsageProblem('--every', 'is missing')"],
])('a start that fails ends its process with %i, whatever it has left open', (code, text, error) => {
  const program = `
    import { UsageProblem } from '@tollbook/client/command/usageProblem'
    import { endAfterFailure } from ${module}
    setInterval(() => undefined, 1_000)
    endAfterFailure(${error})`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([code, expect.stringContaining(text)])
})
