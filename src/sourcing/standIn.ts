import type { OpenProduct } from '../product/productDefinition.ts'

/** Marks a product as supplied by the samples of local mode. */
export function ofSamples(product: OpenProduct): OpenProduct {
  return { ...product, suppliedBy: () => (product.suppliedBy() === 'providers' ? 'samples' : 'none') }
}

/** Uses the providers while one of them answers, and the samples of local mode otherwise. */
export function withStandIn(provided: OpenProduct, sampled: OpenProduct): OpenProduct {
  // Decide once per request, so that the checks of the quote and the handler come from the same one.
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
