/**
 * Returns the language of a tag such as `en-GB`: the first part in lower case. Undefined if the text is not a language
 * tag.
 */
export function languageOf(tag: string | undefined): string | undefined {
  const [, language] = /^\s*([a-z]{2,3})(?:[-_][a-z0-9]{1,8}){0,4}\s*$/i.exec(tag?.slice(0, 40) ?? '') ?? []
  return language?.toLowerCase()
}
