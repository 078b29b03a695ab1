export const newsCategories = [
  'business',
  'crypto',
  'entertainment',
  'general',
  'health',
  'science',
  'sports',
  'tech',
  'world',
] as const

export type NewsCategory = (typeof newsCategories)[number]

export function isNewsCategory(text: string): text is NewsCategory {
  return newsCategories.some((category) => category === text)
}
