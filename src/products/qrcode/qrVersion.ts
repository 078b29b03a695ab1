/*
 * Bytes that fit into each QR version at error correction level M (ISO/IEC 18004, table 7). The table is here, so that
 * a picture size that is too small is refused before payment without drawing the code.
 */
const bytesByVersion = [
  14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666, 711, 779, 857, 911,
  997, 1059, 1125, 1190, 1264, 1370, 1452, 1538, 1628, 1722, 1809, 1911, 1989, 2099, 2213, 2331,
] as const

/** Width of the quiet zone on each side, in modules, as the standard requires. */
export const quietModules = 4

/**
 * Returns the width of the code in modules, with the quiet zone. A picture with fewer pixels is unreadable. Undefined:
 * no QR code holds this many bytes.
 */
export function modulesFor(byteCount: number): number | undefined {
  const index = bytesByVersion.findIndex((bytes) => byteCount <= bytes)
  return index === -1 ? undefined : 17 + 4 * (index + 1) + 2 * quietModules
}
