import { expect, test } from 'vitest'
import { identifyCaller } from '../../src/paywall/identifyCaller.ts'
import { scriptedPayer, scriptedRail } from './scriptedRail.ts'

const [first, second] = [scriptedRail('first'), scriptedRail('second')]

function identify(...headers: readonly string[]) {
  const request = { mount: undefined, header: (name: string) => (headers.includes(name) ? 'x' : undefined) }
  return identifyCaller([first, second], request)
}

test('a marker without a proof asks for an offer', () => {
  expect(identify('second')).toEqual({ payer: undefined, payingBy: undefined })
})

test('a proof counts more than the marker of an earlier rail', () => {
  expect(identify('first', 'second-proof')).toEqual({ payer: undefined, payingBy: second })
})

test('of two proofs the one of the earlier rail is read', () => {
  expect(identify('second-proof', 'first-proof')).toEqual({ payer: undefined, payingBy: first })
})

test('the marker of one rail does not hide the payer that another names', () => {
  expect(identify('first', 'second-wallet')).toEqual({ payer: scriptedPayer, payingBy: undefined })
})

test('the marker of one rail outweighs what another finds wrong with its own headers', () => {
  expect(identify('first', 'second-wrong')).toEqual({ payer: undefined, payingBy: undefined })
})

test('a rail that refuses the request refuses it for all', () => {
  expect(identify('first-wrong')).toMatchObject({ code: 'NO_WALLET' })
})

test('a request that no rail claims is still offered what needs no payer', () => {
  expect(identify()).toEqual({ payer: undefined, payingBy: undefined })
})
