/**
 * Bounds a cache by its number of items. `max` of lru-cache reserves memory for all items at once, which takes 1 to 4
 * ms for 5,000. Each product has dozens of caches, and most of them are nearly empty.
 */
export function cacheBound(items: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: items, sizeCalculation: () => 1 }
}
