import { expect, test } from 'vitest'
import { usageOf } from '../../src/gateway/answerUsage.ts'

const limited = { order: {}, input: 7, outputMax: 5, isByBudget: false, wantsUsage: false }
const usage = (data: unknown) => usageOf({ kind: 'tokens' }, { bytes: new Uint8Array(), data }, limited)

test.each([
  ['an error', { error: { message: 'overloaded' } }],
  ['tokens under other names', { output: [], usage: { input_tokens: 3, output_tokens: 4 } }],
  ['no object', []],
])('an answer with %s is not sold, because its tokens cannot be counted', (_name, data) =>
  expect(() => usage(data)).toThrow('neither replies nor their tokens'),
)

test('an answer without a reply costs the tokens that the API reports', () => {
  const embedding = { data: [], usage: { prompt_tokens: 3, total_tokens: 3 } }
  expect(usage(embedding)).toEqual({ input: 2, output: 0, isEstimated: false })
  expect(usage({ choices: [] })).toEqual({ input: 7, output: 0, isEstimated: true })
})

test('a reported count of zero is an unknown one, so the tokens are estimated', () => {
  const estimated = { input: 7, output: 2, isEstimated: true }
  const choices = [{ message: { content: '12345678' } }]
  expect(usage({ choices, usage: { prompt_tokens: 0, completion_tokens: 0 } })).toEqual(estimated)
  expect(usage({ choices, usage: { prompt_tokens: 3, completion_tokens: 0 } })).toEqual(estimated)
  expect(usage({ data: [], usage: { prompt_tokens: 0 } })).toEqual({ ...estimated, output: 0 })
  expect(usage({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 0 } })).toMatchObject({
    isEstimated: false,
  })
})
