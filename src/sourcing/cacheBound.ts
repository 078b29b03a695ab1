/**
 * Returns options that bound a cache by its number of items. The option `max` of lru-cache would reserve memory for all
 * items at once, which takes 1 to 4 ms for 5,000 items. A service has dozens of caches, and most are nearly empty.
 */
export function cacheBound(items: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: items, sizeCalculation: () => 1 }
}
