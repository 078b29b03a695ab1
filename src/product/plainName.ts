const nameCharactersMax = 64

/**
 * Returns the name that a provider or an issuer wrote if it is short printable text without markup; otherwise an empty
 * text.
 */
export function plainName(text: string | null | undefined): string {
  const said = text?.normalize('NFKC').trim() ?? ''
  const isPlain =
    said.length <= nameCharactersMax && /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(said) && !/[<>]/.test(said)
  return isPlain && said.isWellFormed() ? said : ''
}
