import { parseCurrencies } from './currencyConfig.ts'
import { stablecoinMints } from './stablecoinMints.ts'
import { sharedPorts } from './serverConfig.ts'
import type { GivenVariables } from './variables.ts'

type Companion = readonly [present: string, needed: string, why: string]

const ofFinance = [
  ['FINANCE_PORT', 'the port of the finance reports'],
  ['FINANCE_ISSUER', 'the issuer of the tokens that may read the finance reports'],
  ['FINANCE_JWKS_URL', 'where that issuer publishes its keys'],
] as const
const tlsFiles = ['SIGNER_TLS_CERT', 'SIGNER_TLS_KEY', 'SIGNER_TLS_CA']
const signerPorts = ['SIGNER_ADDRESS', 'SIGNER_LISTEN']

export const besideChain = [
  ['TOKEN_MINT', 'the mint of the service token on the chain of SOLANA_RPC_URLS'],
  ['PAYMENT_WALLET', 'the wallet that receives payments on the chain of SOLANA_RPC_URLS'],
] as const

const companions: readonly Companion[] = [
  ...besideChain.map(([name, why]): Companion => ['SOLANA_RPC_URLS', name, why]),
  ['TAB_WALLET', 'PAYMENT_WALLET', 'the wallet that receives what tabs spend'],
  ['AI_BASE_URL', 'AI_MODEL', 'the model to ask for at the server of AI_BASE_URL'],
  ['AI_FALLBACK_BASE_URL', 'AI_FALLBACK_MODEL', 'the model to ask for at the server of AI_FALLBACK_BASE_URL'],
  ['ARTIFACT_S3_BUCKET', 'ARTIFACT_S3_ACCESS_KEY_ID', 'a key that may write to the bucket'],
  ['ARTIFACT_S3_BUCKET', 'ARTIFACT_S3_SECRET_ACCESS_KEY', 'the secret of that key'],
  // Add each pair of the finance variables. A finance listener without keys accepts no token, and keys without a
  // listener have no use. So each of these variables requires all others.
  ...ofFinance.flatMap(([name, why]) => ofFinance.map(([present]): Companion => [present, name, why])),
  ...signerPorts.flatMap((port) =>
    tlsFiles.map((file): Companion => [port, file, 'the signer is reached over mutual TLS']),
  ),
]

/** A variable whose file cannot be read does not count as missing. */
export function findConflicts(given: GivenVariables, isSet: (name: string) => boolean): readonly string[] {
  const isGiven = (name: string) => given[name] !== undefined
  const missing = companions.filter(([present, needed]) => isGiven(present) && !isGiven(needed) && !isSet(needed))
  const twice = signerPorts.filter((name) => isGiven('SIGNER_SOCKET') && isGiven(name))
  return [
    ...missing.map(([, name, why]) => `${name} is missing: ${why}`),
    ...sampleConflicts(given),
    ...sharedPorts(given),
    ...twice.map((name) => `SIGNER_SOCKET and ${name} are both set: remove one of them`),
    ...burnsMoney(given),
    ...dollarConflicts(given),
    ...['PAYMENT_WALLET', 'TREASURY_WALLET']
      .filter((name) => given['TAB_WALLET'] !== undefined && given['TAB_WALLET'] === given[name])
      .map((name) => `TAB_WALLET is ${name}: set it to another wallet, so that deposits are held apart`),
    ...(needsSecondNode(given)
      ? ['SOLANA_QUORUM_ABOVE_USD needs two different URLs in SOLANA_RPC_URLS: add a node of another operator']
      : []),
  ]
}

/**
 * Samples have no value, so they are allowed only on the chain of local mode, whose tokens have no value either.
 * Markets have no samples.
 */
function sampleConflicts(given: GivenVariables): readonly string[] {
  const asked = given['SAMPLE_UPSTREAMS']
  if (asked === undefined || asked === 'never') return []
  if (asked === 'always' && given['TOKEN_PRICE_SOURCE'] === 'market')
    return ['TOKEN_PRICE_SOURCE=market queries markets, which SAMPLE_UPSTREAMS=always forbids: set it to fixed']
  if (given['SOLANA_RPC_URLS'] === undefined) return []
  return ['SAMPLE_UPSTREAMS is for local mode with its own chain only: set it to never or unset SOLANA_RPC_URLS']
}

/** Payments in TOKEN_MINT burn a part of it, so a stablecoin needs the operator's confirmation in BURN_THIS_MINT. */
function burnsMoney(given: GivenVariables): readonly string[] {
  const { TOKEN_MINT: mint, BURN_THIS_MINT: allowed } = given
  if (allowed !== undefined && allowed !== mint)
    return ['BURN_THIS_MINT is not TOKEN_MINT: remove it, or set it to the mint whose tokens are to be burned']
  const coin = stablecoinMints.get(mint ?? '')
  if (coin === undefined || allowed !== undefined) return []
  return [
    `TOKEN_MINT is ${coin}, and callers would burn a part of each payment in it. Set TOKEN_MINT to the mint of your own token; to burn this one on purpose, set BURN_THIS_MINT=${mint}`,
  ]
}

/**
 * Refuses a mint or wallet in CURRENCIES that is already used for another purpose. If CURRENCIES is set, also refuses a
 * treasury that is the payment wallet.
 */
function dollarConflicts(given: GivenVariables): readonly string[] {
  const { TOKEN_MINT: token, TREASURY_WALLET: treasury, PAYMENT_WALLET: wallet, TAB_WALLET: tabWallet } = given
  const dollars = parseCurrencies(given['CURRENCIES'] ?? '')
  if (!dollars.ok) return []
  const namesToken = token !== undefined && dollars.value.some(({ mint }) => mint === token)
  const isPaymentWallet = treasury !== undefined && treasury === wallet
  const ownWallets = dollars.value.flatMap(({ symbol, wallet: own }) => [
    ...(own !== undefined && own === treasury
      ? [`TREASURY_WALLET is the wallet of ${symbol} in CURRENCIES: set it to the wallet that delivers the tokens`]
      : []),
    ...(own !== undefined && own === tabWallet
      ? [
          `TAB_WALLET is the wallet of ${symbol} in CURRENCIES: set it to another wallet, so that deposits are held apart`,
        ]
      : []),
  ])
  return [
    ...(namesToken ? ['CURRENCIES names TOKEN_MINT: remove it there'] : []),
    ...(isPaymentWallet ? ['TREASURY_WALLET is PAYMENT_WALLET: set it to the wallet that delivers the tokens'] : []),
    ...ownWallets,
  ]
}

/** A node that is listed twice would agree with itself. */
function needsSecondNode(given: GivenVariables): boolean {
  const urls = (given['SOLANA_RPC_URLS'] ?? '').split(',').map((url) => URL.parse(url.trim())?.href)
  return given['SOLANA_QUORUM_ABOVE_USD'] !== undefined && new Set(urls).size < 2
}
