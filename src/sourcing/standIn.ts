import type { OpenProduct } from '../product/productDefinition.ts'

/** A product whose providers are the samples. */
export function ofSamples(product: OpenProduct): OpenProduct {
  return { ...product, suppliedBy: () => (product.suppliedBy() === 'providers' ? 'samples' : 'none') }
}

/** The product over its providers while one of them answers, and over the samples of local mode otherwise. */
export function withStandIn(provided: OpenProduct, sampled: OpenProduct): OpenProduct {
  // Decided once per request: `read` returns the quote's checks and the handler of one of them.
  const isProvided = () => provided.suppliedBy() === 'providers'
  const current = () => (isProvided() ? provided : sampled)
  return {
    parameters: provided.parameters,
    whyUnavailable: () => current().whyUnavailable(),
    suppliedBy: () => current().suppliedBy(),
    probes: [...provided.probes, ...sampled.probes],
    read: (input) => current().read(input),
    async close() {
      await Promise.all([provided.close(), sampled.close()])
    },
  }
}
