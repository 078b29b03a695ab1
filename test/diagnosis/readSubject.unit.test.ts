import { expect, test } from 'vitest'
import { readSubject } from '../../src/diagnosis/readSubject.ts'

test('a subject is read as it is pasted, with the space and line break around it', () => {
  const receipt = `receipt_${'0a'.repeat(16)}`
  for (const pasted of [receipt, ` ${receipt}`, `${receipt}\n`, `\t${receipt}\r\n`])
    expect(readSubject(pasted)).toEqual({ kind: 'receipt', leafHashStart: '0a'.repeat(16) })
  expect(readSubject(`${receipt} ${receipt}`)).toBeUndefined()
})
