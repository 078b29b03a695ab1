import type { OpenProduct } from '../product/productDefinition.ts'

export function ofSamples(product: OpenProduct): OpenProduct {
  return { ...product, suppliedBy: () => (product.suppliedBy() === 'providers' ? 'samples' : 'none') }
}

/** Creates a product whose samples answer while none of its providers answers. */
export function withStandIn(provided: OpenProduct, sampled: OpenProduct): OpenProduct {
  // Choose once per request, in `read`, so that the quote's checks and the delivery use the same product.
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
