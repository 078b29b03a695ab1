/**
 * Returns options that bound a cache by its number of items. The option `max` of lru-cache would reserve memory for all
 * items at once, although most caches of the service are nearly empty.
 */
export function cacheBound(items: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: items, sizeCalculation: () => 1 }
}
