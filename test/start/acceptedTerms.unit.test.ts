import { describe, expect, test } from 'vitest'
import { products } from '../support/builtinProducts.ts'
import { createLog } from '../../src/machine/log.ts'
import { checkProviderTerms, unacceptedTerms } from '../../src/start/goods/acceptedTerms.ts'

const mainnet = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const none = { upstreams: {}, termsAccepted: new Set<string>() }
const namesOf = (config: Parameters<typeof unacceptedTerms>[1]) =>
  unacceptedTerms(products, config).map(({ provider }) => provider)
const lines: string[] = []
const log = createLog({ level: 'info', name: 'test', destination: { write: (line: string) => void lines.push(line) } })
const check = (config: typeof none, network: string) => checkProviderTerms({ sold: products, config, network, log })

describe('the default set-up', () => {
  test('does not start to sell data of providers that forbid it or have not permitted it', () => {
    // By plan, unknown and forbidden, in the order of the products.
    const samples = ['COINGECKO', 'KRAKEN', 'YAHOO', 'NEWS_FEEDS']
    expect(namesOf(none).filter((name) => samples.includes(name))).toEqual(samples)
    for (const name of ['MET_NORWAY', 'GDELT', 'AI', 'EODHD']) expect(namesOf(none)).not.toContain(name)
    expect(() => check(none, mainnet)).toThrow(
      /YAHOO \(commercial use: forbidden, resale: forbidden\) for \/api\/data\/stock/,
    )
    expect(() => check(none, mainnet)).toThrow(/set PROVIDER_TERMS_ACCEPTED=COINGECKO,.*PRODUCTS_OFF/)
  })

  test('is only warned about on a chain whose tokens have no value', () => {
    check(none, 'solana:local')
    expect(lines.join('')).toContain('provider_terms_not_accepted')
  })
})

describe('the operator', () => {
  test('accepts terms by name', () => {
    const accepted = { ...none, termsAccepted: new Set<string>(namesOf(none)) }
    expect(namesOf(accepted)).toEqual([])
    check(accepted, mainnet)
  })

  test('must accept the plan of a key as soon as the key is there', () => {
    expect(namesOf({ ...none, upstreams: { TWELVE_DATA: { apiKey: 'key' } } })).toContain('TWELVE_DATA')
    expect(namesOf(none)).not.toContain('TWELVE_DATA')
  })

  test('with both licences of stocks need not accept Yahoo, which is not asked then', () => {
    const [TWELVE_DATA, EODHD] = [{ apiKey: 'key' }, { apiKey: 'key' }]
    expect(namesOf({ ...none, upstreams: { TWELVE_DATA } })).toContain('YAHOO')
    expect(namesOf({ ...none, upstreams: { EODHD } })).toContain('YAHOO')
    const licensed = namesOf({ ...none, upstreams: { TWELVE_DATA, EODHD } })
    expect(licensed).not.toContain('YAHOO')
    expect(licensed).toEqual(expect.arrayContaining(['TWELVE_DATA', 'EODHD']))
  })

  test('sells products without providers without accepting anything', () => {
    const sold = products.filter(({ providers }) => providers.length === 0)
    expect(unacceptedTerms(sold, none)).toEqual([])
  })
})
