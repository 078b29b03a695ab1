/**
 * The bound of a cache by its number of items. `max` of lru-cache reserves the memory of all items at once, 1 to 4 ms for 5,000;
 * each product has dozens of caches, most of them nearly empty.
 */
export function cacheBound(items: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: items, sizeCalculation: () => 1 }
}
