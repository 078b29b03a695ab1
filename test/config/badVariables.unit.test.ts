import { expect, test } from 'vitest'
import { environmentNames, readConfig } from '../../src/config.ts'

const key = '{"kty":"OKP","crv":"Ed25519","x":"sE1Jlpo_kFvSAKCHEDcSEvmRqyKHGIsuNUGyKkjYvyo","d":"AQEB"}'

/** Values that a start has refused too late, or taken, next to ordinary mistakes. */
const bad: readonly (readonly [name: string, value: string])[] = [
  ['METRICS_SUBNETS', '10.0.0.0/99'],
  ['METRICS_SUBNETS', '10.0.0/8'],
  ['METRICS_SUBNETS', '999.0.0.0/8'],
  ['METRICS_SUBNETS', '::1/129'],
  ['METRICS_SUBNETS', '10.0.0.0/8,'],
  ['METRICS_SUBNETS', 'localhost/8'],
  ['HOST', 'http://0.0.0.0'],
  ['HOST', '0.0.0.0:3402'],
  ['HOST', '[::]'],
  ['HOST', '256.1.1.1'],
  ['HOST', 'two hosts'],
  ['HEALTH_HOST', '10.0.0.0/8'],
  ['FINANCE_HOST', '*'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['HEALTH_PORT', 'http'],
  ['PUBLIC_URL', 'api.example.com'],
  ['PUBLIC_URL', 'https://api.example.com/?key=1'],
  ['PUBLIC_URL', 'https://api.example.com/#top'],
  ['PUBLIC_URL', 'https://user:pw@api.example.com'],
  ['LEDGER_ORIGIN', 'https://example.com/ledger'],
  ['LEDGER_ORIGIN', 'example.com//ledger'],
  ['LEDGER_ORIGIN', 'example.com/ledger/'],
  ['LEDGER_ORIGIN', '/ledger'],
  ['LEDGER_ORIGIN', '?'],
  ['LEDGER_ORIGIN', '{"a":1}'],
  ['LEDGER_ORIGIN', 'my ledger'],
  ['LEDGER_ORIGIN', '\u202eexample.com'],
  ['LEDGER_ORIGIN', 'a'.repeat(201)],
  ['TOKEN_PRICE_USD', '0'],
  ['TOKEN_PRICE_USD', '-1'],
  ['TOKEN_PRICE_USD', '1e-3'],
  ['TOKEN_PRICE_USD', '0,001'],
  ['TOKEN_PRICE_USD', '$0.001'],
  ['TOKEN_PRICE_USD', '0.000000000000000001'],
  ['TOKEN_PRICE_USD', '1000001'],
  ['TOKEN_PRICE_USD', '99999999999999999999'],
  ['RECEIPT_SIGNING_KEY', 'secret'],
  ['RECEIPT_SIGNING_KEY', '{"kty":"OKP","crv":"Ed25519","x":"x","d":"d"}'],
  ['RECEIPT_SIGNING_KEY', key],
  ['DATABASE_URL', 'mysql://db/tollbook'],
  ['DATABASE_URL', 'postgres://db:99999/tollbook'],
  ['SOLANA_RPC_URLS', 'https://node.example.com,'],
  ['SOLANA_RPC_URLS', 'wss://node.example.com'],
  ['TOKEN_MINT', 'abc'],
  ['PAYMENT_WALLET', '0x52908400098527886E0F7030069857D2E4169EE7'],
  ['NEWS_FEEDS', 'tech=https://'],
  ['NEWS_FEEDS', 'tech'],
  ['EGRESS_ALLOW_HOSTS', 'https://wiki.example.com'],
  ['EGRESS_ALLOW_HOSTS', 'wiki.example.com/path'],
  ['EGRESS_ALLOW_HOSTS', 'wiki.example.com:99999'],
  ['EGRESS_ALLOW_HOSTS', 'wiki.example.com,'],
  ['EGRESS_ALLOW_HOSTS', '10.0.0.0/8'],
  ['EGRESS_DENY_HOSTS', 'https://wiki.example.com'],
  ['EGRESS_DENY_HOSTS', 'wiki.example.com:443'],
  ['EGRESS_DENY_HOSTS', '93.184.216.0/33'],
  ['EGRESS_DENY_HOSTS', '93.184.216'],
  ['EGRESS_DENY_HOSTS', `${'a'.repeat(64)}.example`],
  ['PRICES_USD', '/api/tools/pdf'],
  ['PRODUCTS_OFF', 'pdf'],
  ['SPLIT', 'burn:50,provider:60'],
  ['SERVICE_NAME', 'two\nlines'],
  ['SERVICE_DESCRIPTION', 'x'.repeat(201)],
  ['SERVICE_CONTACT', 'ask me'],
  ['SERVICE_CONTACT', `https://example.com/${'x'.repeat(200)}`],
  ['SERVICE_TERMS_URL', 'ftp://example.com'],
  ['TOKEN_SYMBOL', 'two words'],
  ['TOKEN_SOURCE_URL', 'http://exchange.example/token'],
  ['HANDLER_TIMEOUT_MS', '99'],
  ['SOLANA_COMMITMENT', 'processed'],
  ['UPSTREAM_CONTACT', 'öps'],
  ['AI_FALLBACK_API_KEY', 'two words'],
  ['AI_OUTPUT_TOKENS_MAX', '0'],
  ['TOKEN_PRICE_LIQUIDITY_MIN_USD', '-1'],
  ['ARTIFACT_TOTAL_MEGABYTES', '99'],
  ['SIGNER_SOCKET', `/run/${'x'.repeat(103)}`],
  ['FEE_PAYER_KEYPAIR', 'a\u0000b'],
  ['SIGNER_LAMPORTS_PER_DAY', '0'],
  ['SIGNER_LAMPORTS_PER_WALLET_AND_DAY', '0.1'],
  ['REFUND_MAX_FINANCE_USD', 'ten'],
  ['TABS_TOTAL_MAX_USD', '1000000001'],
  ['LOG_LEVEL', 'verbose'],
  ['NEWS_POLLING', 'yes'],
  ['X402_NETWORK', 'solana'],
  ['SOLANA_QUORUM_ABOVE_USD', 'all'],
  ['PROVIDER_TERMS_ACCEPTED', 'ALL'],
  ['AI_BASE_URL', 'localhost:11434'],
  ['AI_BASE_URL', 'https://user:pw@ai.example.com/v1'],
  ['FINANCE_JWKS_URL', 'https://user:pw@i.example.com/jwks'],
  ['FINANCE_JWKS_URL', 'file:///jwks.json'],
  ['ARTIFACT_S3_ENDPOINT', 's3://bucket'],
  ['ARTIFACT_DIR', 'a\u0000b'],
  ['CHECKPOINT_FILE', 'a\u0000b'],
  ['CHROMIUM_PATH', 'a\u0000b'],
]

test('every variable that cannot work is refused before anything is opened, by its name', () => {
  const notRefused = bad.filter(([name, value]) => {
    try {
      readConfig({ [name]: value })
      return true
    } catch (error) {
      return !(error instanceof Error && error.message.includes(`\n  ${name} `))
    }
  })
  expect(notRefused).toEqual([])
})

test('two listeners on one port are refused, by both names', () => {
  const finance = { FINANCE_ISSUER: 'i', FINANCE_JWKS_URL: 'https://i.example.com/jwks' }
  expect(() => readConfig({ PORT: '3402', HEALTH_PORT: '3402' })).toThrow('PORT and HEALTH_PORT are both 3402')
  expect(() => readConfig({ HEALTH_PORT: '3403', FINANCE_PORT: '3403', ...finance })).toThrow(
    'HEALTH_PORT and FINANCE_PORT are both 3403',
  )
  expect(() => readConfig({ PORT: '3404', HEALTH_PORT: '3403', FINANCE_PORT: '3404', ...finance })).toThrow(
    'PORT and FINANCE_PORT are both 3404',
  )
  expect(readConfig({ PORT: '0', HEALTH_PORT: '0', FINANCE_PORT: '0', ...finance }).server.port).toBe(0)
})

test('every name of the table is one that is read', () => {
  expect(bad.map(([name]) => name).filter((name) => !environmentNames.includes(name))).toEqual([])
})
