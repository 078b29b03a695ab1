import { Fault } from '@tollbook/core/fault'
import { mainnet } from '@tollbook/core/networks'
import type { ProviderConfig } from '../../config/providerConfig.ts'
import type { ProductFacts } from '../../product/productFacts.ts'
import { isAsked, type ProviderName, providerTerms } from '../../product/providerTerms.ts'
import type { Log } from '../../machine/log.ts'

interface OpenTerms {
  readonly provider: ProviderName
  readonly commercialUse: string
  readonly resale: string
  readonly paths: readonly string[]
}

type SoldFacts = readonly Pick<ProductFacts, 'path' | 'providers'>[]
type TermsConfig = Pick<ProviderConfig, 'upstreams' | 'termsAccepted'>

export function unacceptedTerms(sold: SoldFacts, config: TermsConfig): readonly OpenTerms[] {
  const names = [...new Set(sold.flatMap(({ providers }) => providers))]
  return names
    .filter((name) => !permitsSales(name) && isAsked(name, config.upstreams) && !config.termsAccepted.has(name))
    .map((name) => ({
      provider: name,
      commercialUse: providerTerms[name].commercialUse,
      resale: providerTerms[name].resale,
      paths: sold.filter(({ providers }) => providers.includes(name)).map(({ path }) => path),
    }))
}

function permitsSales(name: ProviderName): boolean {
  const { commercialUse, resale } = providerTerms[name]
  return commercialUse === 'permitted' && resale === 'permitted'
}

interface TermsQuestion {
  readonly sold: SoldFacts
  readonly config: TermsConfig
  /** CAIP-2 name of the chain on which callers pay. */
  readonly network: string
  readonly log: Log
}

export function checkProviderTerms({ sold, config, network, log }: TermsQuestion): void {
  const open = unacceptedTerms(sold, config)
  if (open.length === 0) return
  // Throw only on mainnet: only its tokens have value, so only payments there are sales.
  if (network === mainnet) throw new Fault(describeTerms(open), { retryable: false })
  log.warn({ event: 'provider_terms_not_accepted', providers: open.map(({ provider }) => provider).join() })
}

function describeTerms(open: readonly OpenTerms[]): string {
  const lines = open.map(
    ({ provider, commercialUse, resale, paths }) =>
      `  ${provider} (commercial use: ${commercialUse}, resale: ${resale}) for ${paths.join(', ')}`,
  )
  const names = open.map(({ provider }) => provider).join(',')
  return [
    'the terms of these providers do not permit sales by themselves:',
    ...lines,
    `Read docs/providers.md. If your agreements cover the sale, set PROVIDER_TERMS_ACCEPTED=${names}; otherwise take the products off with PRODUCTS_OFF.`,
  ].join('\n')
}
