import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { invalidPaymentReasons } from '@tollbook/core/refusal'

// Proofs are left out because `npm test` does not run them.
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'test'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => path.endsWith('.ts') && !path.startsWith('test/proofs/'))
const texts = files.map((path) => readFileSync(path, 'utf8')).join('\n')

test('every reason why a proof buys nothing is expected by a test', () => {
  const reasons = Object.keys(invalidPaymentReasons)
  expect(reasons.length).toBeGreaterThan(30)
  expect(reasons.filter((reason) => !texts.includes(`'${reason}'`))).toEqual([])
})
