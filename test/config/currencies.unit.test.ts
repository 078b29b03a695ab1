import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { dollarOfMint, mintOn, possibleMints } from '../../src/payment/dollar.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'

const mainnet = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const devnet = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const usdcOfMainnet = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const usdcOfDevnet = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'
const acceptedOf = (CURRENCIES: string) => readConfig({ CURRENCIES }).currencies.accepted

test('without CURRENCIES only the token is accepted, and no token may be promised ahead', () => {
  const { accepted, burnDebtMaxTokens, treasuryWallet } = readConfig({}).currencies
  expect([accepted, burnDebtMaxTokens, treasuryWallet]).toEqual([[], 0, undefined])
})

test('a known dollar has the mint of its network, and one of mainnet is refused on another chain', () => {
  const [usdc] = acceptedOf('usdc')
  if (usdc === undefined) throw new Error('usdc is accepted')
  expect(usdc).toMatchObject({ symbol: 'USDC', minimumMicroUsd: 10_000n, burn: 'token', rails: ['x402', 'mpp'] })
  expect(mintOn(mainnet, usdc)).toEqual({ mint: usdcOfMainnet })
  expect(mintOn(devnet, usdc)).toEqual({ mint: usdcOfDevnet })
  expect(possibleMints(usdc)).toEqual([usdcOfMainnet, usdcOfDevnet])
  const [own] = acceptedOf(`XUSD=${usdcOfMainnet}`)
  if (own === undefined) throw new Error('a dollar by its mint is accepted')
  expect(mintOn(devnet, own)).toContain('is a dollar of mainnet')
  const [usdt] = acceptedOf('usdt')
  if (usdt === undefined) throw new Error('usdt is accepted')
  expect(mintOn(devnet, usdt)).toContain('has no known mint')
})

test('options follow a dollar with colons', () => {
  expect(acceptedOf(`usdc:minimum=0.005, XUSD=${mint}:burn=none:rails=mpp`)).toEqual([
    { symbol: 'USDC', mint: undefined, minimumMicroUsd: 5_000n, burn: 'token', rails: ['x402', 'mpp'] },
    { symbol: 'XUSD', mint, minimumMicroUsd: 10_000n, burn: 'none', rails: ['mpp'] },
  ])
})

test('a dollar may have its own wallet', () => {
  const currencies = acceptedOf(`usdc:wallet=${wallet}:minimum=0.001,XUSD=${mint}`)
  expect(currencies).toMatchObject([{ symbol: 'USDC', wallet, minimumMicroUsd: 1_000n }, { symbol: 'XUSD' }])
  const [usdc, xusd] = currencies
  const found = [usdcOfMainnet, usdcOfDevnet, mint, wallet].map((of) => dollarOfMint(of, currencies))
  expect(found).toEqual([usdc, usdc, xusd, undefined])
  expect(xusd).not.toHaveProperty('wallet')
})

test('a split divides a dollar in its own shares, and the treasury may have less where nothing is burned', () => {
  const [usdc, usdt] = acceptedOf('usdc:split=provider:60.5+holders:9.5+treasury:30,usdt:burn=none:split=provider:100')
  expect(usdc).toMatchObject({
    minimumMicroUsd: 10_000n,
    split: [
      { account: 'provider', perMille: 605 },
      { account: 'holders', perMille: 95 },
      { account: 'treasury', perMille: 300 },
    ],
  })
  expect(usdt).toMatchObject({ burn: 'none', split: [{ account: 'provider', perMille: 1_000 }] })
})

describe('a mistake is named at the start', () => {
  test.each([
    ['eurc', 'write usdc or usdt'],
    ['XUSD=abc', 'write usdc or usdt'],
    ['usdc,usdc', 'names USDC more than once'],
    ['usdc,XUSD=4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 'USDC and XUSD have one mint'],
    ['usdc,usdt,XUSD=4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 'USDC and XUSD have one mint'],
    ['usdc:minimum=0', 'the price must be a decimal'],
    ['usdc:burn=dollars', 'burn must be token or none'],
    ['usdc:minimum=0.005:rails=mpp: minimum =0.01', 'minimum is given more than once; keep one'],
    ['usdc:rails=native', 'rails must be x402 or mpp'],
    ['usdc:payto=1', '"payto" is not one of wallet, minimum, burn, rails and split'],
    ['usdc:wallet=1', 'of wallet, write the Solana address of the wallet that receives payments in it (got "1")'],
    ['usdc:wallet', 'of wallet, write the Solana address'],
    ['usdc:minimum', 'of minimum, the price must be'],
    ['usdc:split=1', 'of split, has "1": write account:percent'],
    ['usdc:split=provider:60+treasury:30', 'of split, adds up to 90%; change the shares so that they add up to 100%'],
    ['usdc:split=burn:30+provider:70', 'of split, names "burn": nothing burns a dollar; give its share to treasury'],
  ])('CURRENCIES=%s', (setting, problem) => {
    expect(() => acceptedOf(setting)).toThrow(problem)
  })

  test('the token is not a dollar in addition to itself, and the payment wallet does not deliver to itself', () => {
    const env = { SOLANA_RPC_URLS: 'http://127.0.0.1:1', TOKEN_MINT: mint, PAYMENT_WALLET: wallet }
    expect(() => readConfig({ ...env, CURRENCIES: `XUSD=${mint}` })).toThrow('CURRENCIES names TOKEN_MINT')
    expect(() => readConfig({ ...env, CURRENCIES: 'usdc', TREASURY_WALLET: wallet })).toThrow(
      'TREASURY_WALLET is PAYMENT_WALLET',
    )
    const ownWallet = { ...env, CURRENCIES: `usdc:wallet=${otherWallet}` }
    expect(() => readConfig({ ...ownWallet, TREASURY_WALLET: otherWallet })).toThrow(
      'TREASURY_WALLET is the wallet of USDC in CURRENCIES: set it to the wallet that delivers the tokens',
    )
    expect(() => readConfig({ ...ownWallet, TAB_WALLET: otherWallet })).toThrow(
      'TAB_WALLET is the wallet of USDC in CURRENCIES: set it to another wallet',
    )
    for (const [name, shared] of [
      ['PAYMENT_WALLET', wallet],
      ['TREASURY_WALLET', otherWallet],
    ] as const)
      expect(() => readConfig({ ...env, TREASURY_WALLET: otherWallet, TAB_WALLET: shared })).toThrow(
        `TAB_WALLET is ${name}: set it to another wallet, so that deposits are held apart`,
      )
  })
})
