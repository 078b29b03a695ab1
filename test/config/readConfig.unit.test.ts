import { Fault } from '@tollbook/core/fault'
import { describe, expect, test } from 'vitest'
import { environmentNames, isServiceConfig, readConfig } from '../../src/config.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'

const address = '11111111111111111111111111111111'
const operated = {
  DATABASE_URL: 'postgres://api:pw@db/tollbook',
  SOLANA_RPC_URLS: 'https://node.example.com/',
  TOKEN_MINT: address,
  PAYMENT_WALLET: address,
  RECEIPT_SIGNING_KEY: JSON.stringify(makeReceiptKey()),
}

function mistakesOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const [, ...lines] = error.message.split('\n')
    return lines.map((line) => line.trim())
  }
  throw new Error('it was accepted')
}

test('the address of a feed may have a query with an equals sign', () => {
  const url = 'https://news.example/rss?section=world&lang=en'
  const feed = { category: 'tech', url: 'https://tech.example/rss' }
  expect(readConfig({ NEWS_FEEDS: `world=${url}, tech=${feed.url}` }).providers.newsFeeds).toEqual([
    { category: 'world', url },
    feed,
  ])
})

describe('mistakes', () => {
  test('are all reported at once, each with its value and its fix, those between variables too', () => {
    const env = { PORT: '70000', LOG_LEVEL: 'loud', TOKEN_MINT: 'abc', FINANCE_PORT: '1' }
    expect(mistakesOf(env)).toEqual([
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent (got "loud")',
      'TOKEN_MINT must be a Solana address (base58 of 32 bytes) (got "abc")',
      'PORT must be a whole number from 0 to 65535 (got "70000")',
      'FINANCE_ISSUER is missing: the issuer of the tokens that may read the finance reports',
      'FINANCE_JWKS_URL is missing: where that issuer publishes its keys',
    ])
  })

  test('of the signer name the files of TLS that its address needs, and two places at once', () => {
    const tls = { SIGNER_TLS_CERT: 'a.crt', SIGNER_TLS_KEY: 'a.key' }
    expect(mistakesOf({ SIGNER_ADDRESS: 'signer.internal:8443', ...tls })).toEqual([
      'SIGNER_TLS_CA is missing: the signer is reached over mutual TLS',
    ])
    expect(mistakesOf({ SIGNER_LISTEN: '8443' })).toContain(
      'SIGNER_LISTEN must be HOST:PORT, such as signer.internal:8443 (got "8443")',
    )
    expect(
      mistakesOf({ SIGNER_SOCKET: '/run/s.sock', SIGNER_LISTEN: '[::]:8443', ...tls, SIGNER_TLS_CA: 'ca' }),
    ).toEqual(['SIGNER_SOCKET and SIGNER_LISTEN are both set: remove one of them'])
    const { signer } = readConfig({ SIGNER_LISTEN: '[::]:8443', ...tls, SIGNER_TLS_CA: 'ca.crt' })
    expect(signer.place).toEqual({ host: '::', port: 8443, tls: { ...tls, SIGNER_TLS_CA: 'ca.crt' } })
  })

  test('name variables that nothing reads and that look like one that is missing', () => {
    expect(mistakesOf({ ...operated, PAYMENT_WALLET: '', PAYMENT_WALET: address })).toEqual([
      expect.stringContaining('PAYMENT_WALLET is missing'),
      'PAYMENT_WALET is not read: did you mean PAYMENT_WALLET?',
    ])
  })

  test('never show a value that may hold a secret', () => {
    const planted = '\u0000planted\u0000'
    const env = Object.fromEntries(environmentNames.map((name) => [name, planted]))
    const mistakes = mistakesOf(env)
    const shown = mistakes
      .filter((mistake) => mistake.includes('planted'))
      .map((mistake) => mistake.split(' ')[0] ?? '')
    expect(mistakes.length).toBeGreaterThan(60)
    expect(shown).toContain('PORT')
    expect(shown.filter((name) => /KEY|SECRET|PASSWORD|URL|FEEDS/.test(name))).toEqual([])
  })

  test.each(['https://a.example', 'https://a.example, https://A.example/'])(
    'a quorum of one node, listed as %s, is refused: the node would agree with itself',
    (SOLANA_RPC_URLS) => {
      const env = { ...operated, SOLANA_QUORUM_ABOVE_USD: '1' }
      expect(mistakesOf({ ...env, SOLANA_RPC_URLS })).toEqual([
        'SOLANA_QUORUM_ABOVE_USD needs two different URLs in SOLANA_RPC_URLS: add a node of another operator',
      ])
      const both = { ...env, SOLANA_RPC_URLS: `${SOLANA_RPC_URLS},https://b.example` }
      expect(readConfig(both).sale.quorumAboveMicroUsd).toBe(1_000_000n)
    },
  )

  test('a long value is left out of its message', () => {
    expect(mistakesOf({ TOKEN_PRICE_USD: '9'.repeat(500) + 'x' })).toEqual([
      'TOKEN_PRICE_USD must be a decimal from 0.000000000001 to 1000000 US dollars, such as 0.001',
    ])
  })

  test.each([
    [{ SOLANA_RPC_URLS: 'http://node' }, ['TOKEN_MINT', 'PAYMENT_WALLET']],
    [{ ...operated, SAMPLE_UPSTREAMS: 'auto' }, ['SAMPLE_UPSTREAMS']],
    [{ ...operated, SAMPLE_UPSTREAMS: 'always' }, ['SAMPLE_UPSTREAMS']],
    [{ SAMPLE_UPSTREAMS: '1' }, ['SAMPLE_UPSTREAMS']],
    [{ SAMPLE_UPSTREAMS: 'always', TOKEN_PRICE_SOURCE: 'market' }, ['TOKEN_PRICE_SOURCE=market']],
    [{ AI_BASE_URL: 'http://ai/v1' }, ['AI_MODEL']],
    [{ AI_FALLBACK_BASE_URL: 'http://ai/v1' }, ['AI_FALLBACK_MODEL']],
    [{ ARTIFACT_S3_BUCKET: 'b' }, ['ARTIFACT_S3_ACCESS_KEY_ID', 'ARTIFACT_S3_SECRET_ACCESS_KEY']],
  ])('%j names %j', (env, names) => {
    expect(mistakesOf(env).map((mistake) => mistake.split(' ')[0])).toEqual(names)
  })
})

describe('a stablecoin as TOKEN_MINT', () => {
  const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

  test.each([
    [usdc, 'USDC'],
    ['Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'USDT'],
    ['4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 'USDC of devnet'],
  ])('%s is refused, because callers would burn it', (mint, name) => {
    const problem = `TOKEN_MINT is ${name}, and callers would burn a part of each payment in it`
    expect(mistakesOf({ ...operated, TOKEN_MINT: mint })).toEqual([expect.stringContaining(problem)])
    expect(mistakesOf({ ...operated, TOKEN_MINT: mint })[0]).toContain(`set BURN_THIS_MINT=${mint}`)
  })

  test('is allowed by its address, and by no other', () => {
    expect(readConfig({ ...operated, TOKEN_MINT: usdc, BURN_THIS_MINT: usdc }).chain?.tokenMint).toBe(usdc)
    expect(mistakesOf({ ...operated, TOKEN_MINT: usdc, BURN_THIS_MINT: address })).toEqual([
      expect.stringContaining('BURN_THIS_MINT is not TOKEN_MINT'),
    ])
  })
})

describe('a configuration', () => {
  test('of nothing at all is local mode on this machine only', () => {
    const config = readConfig({})
    expect(isServiceConfig(config)).toBe(false)
    expect(config.server).toMatchObject({ host: '127.0.0.1', port: 3402, publicUrl: undefined })
  })

  test('with a database, a chain and a key leaves nothing to local mode', () => {
    const config = readConfig(operated)
    expect(isServiceConfig(config)).toBe(true)
    expect(config.server.host).toBe('0.0.0.0')
  })

  test('takes an empty variable for an unset one, and ignores what it does not know', () => {
    expect(readConfig({ PORT: '', TOKEN_MINT: '', HOME: '/root' })).toEqual(readConfig({}))
  })

  test('has a part as soon as each of its variables has a value', () => {
    const s3 = { ARTIFACT_S3_BUCKET: 'b', ARTIFACT_S3_ACCESS_KEY_ID: 'k', ARTIFACT_S3_SECRET_ACCESS_KEY: 's' }
    const ofStorage = readConfig({ ...s3, ARTIFACT_S3_REGION: 'eu-central-1' }).products.artifacts.s3
    expect(ofStorage).toEqual({ bucket: 'b', region: 'eu-central-1', accessKeyId: 'k', secretAccessKey: 's' })
    const issuer = { FINANCE_PORT: '3403', FINANCE_ISSUER: 'i', FINANCE_JWKS_URL: 'https://i.example.com/jwks' }
    expect(readConfig(issuer).finance).toMatchObject({ audience: 'tollbook-finance', listener: { host: '127.0.0.1' } })
    expect(readConfig({ ...issuer, FINANCE_AUDIENCE: 'ours' }).finance?.audience).toBe('ours')
    expect(readConfig({}).products.artifacts.s3 ?? readConfig({}).finance).toBeUndefined()
  })

  test('has limits in base units: millionths of a dollar, bytes, milliseconds', () => {
    const config = readConfig({
      TAB_MAX_USD: '2.5',
      TABS_TOTAL_MAX_USD: '300',
      TAB_BEARER_DAY_USD: '0.000001',
      REFUND_MAX_FINANCE_USD: '7',
      REFUND_MAX_SUPPORT_USD: '0.5',
      ARTIFACT_TOTAL_MEGABYTES: '250',
      OPEN_QUOTES_MEGABYTES: '3',
      HANDLER_TIMEOUT_MS: '4000',
      TOKEN_PRICE_USD: '0.25',
      SIGNER_LAMPORTS_PER_DAY: '77',
      SIGNER_LAMPORTS_PER_WALLET_AND_DAY: '7',
    })
    expect(config.tabs).toMatchObject({
      tabMaxMicroUsd: 2_500_000n,
      totalMaxMicroUsd: 300_000_000n,
      bearerDayMaxMicroUsd: 1n,
    })
    expect(config.refunds.limits).toEqual({ finance: 7_000_000n, support: 500_000n })
    expect(config.products.artifacts.totalBytesMax).toBe(250_000_000)
    expect(config.limits.openQuotesBytesMax).toBe(3_000_000)
    expect(config.sale).toMatchObject({ handlerTimeoutMs: 4_000, claimLeaseMs: 8_000 })
    expect(config.prices.tokenPriceAttoUsd).toBe(25n * 10n ** 16n)
    expect(config.signer.limits).toEqual({ perDayLamports: 77n, perWalletAndDayLamports: 7n })
  })

  test('bounds nothing that the operator has not bounded: quorum and exposure', () => {
    const { quorumAboveMicroUsd, exposureMaxTokens } = readConfig({}).sale
    expect([quorumAboveMicroUsd, exposureMaxTokens]).toEqual([undefined, 0])
  })

  test('has the chat servers in the order of their use, each with its own models and key', () => {
    const { aiServers } = readConfig({
      AI_FALLBACK_BASE_URL: 'http://second/v1',
      AI_FALLBACK_MODEL: 'b',
      AI_BASE_URL: 'http://first/v1',
      AI_MODEL: 'a, b',
      AI_API_KEY: 'key-of-first',
    }).providers
    expect(aiServers).toEqual([
      { baseUrl: 'http://first/v1', models: ['a', 'b'], apiKey: 'key-of-first' },
      { baseUrl: 'http://second/v1', models: ['b'], apiKey: undefined },
    ])
    expect(() => readConfig({ AI_BASE_URL: 'http://first/v1', AI_MODEL: 'a,a' })).toThrow(
      'AI_MODEL must be 1 to 20 different names',
    )
  })

  test('has the wallets of the shares, and refuses a share without one or with two', () => {
    const wallets = (PAYOUT_WALLETS: string) => [...readConfig({ PAYOUT_WALLETS }).payout.wallets]
    expect(wallets(`provider:${address}, treasury:${address}`)).toEqual([
      ['provider', address],
      ['treasury', address],
    ])
    expect(() => wallets(`provider:${address},provider:${address}`)).toThrow('names "provider" more than once')
    expect(() => wallets('provider')).toThrow('has "provider": write share:address')
    expect(() => wallets('provider:abc')).toThrow('abc is not a Solana address')
  })

  test('accepts the narrowest subnets, a single address of either family', () => {
    const narrow = ['10.0.0.7/32', '::1/128']
    expect(readConfig({ METRICS_SUBNETS: narrow.join(', ') }).server.metricsSubnets).toEqual(narrow)
  })

  test('has a public address without the last slash, whose path stays', () => {
    expect(readConfig({ PUBLIC_URL: 'https://api.example.com/till/' }).server.publicUrl).toBe(
      'https://api.example.com/till',
    )
  })

  test('gives each provider its address and, where it takes one, its key', () => {
    const keys = environmentNames.filter((name) => name.endsWith('_API_KEY') && !name.startsWith('AI_'))
    expect(keys).toHaveLength(7)
    const { upstreams } = readConfig(Object.fromEntries(keys.map((name) => [name, `key-of-${name}`]))).providers
    const given = Object.entries(upstreams).flatMap(([name, { apiKey }]) =>
      apiKey === undefined ? [] : [[name, apiKey]],
    )
    expect(Object.fromEntries(given)).toEqual(
      Object.fromEntries(keys.map((name) => [name.replace('_API_KEY', ''), `key-of-${name}`])),
    )
  })
})
