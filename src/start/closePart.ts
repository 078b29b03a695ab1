export interface Closable {
  close(): Promise<void>
}

export const closePart = (part: Closable): Promise<void> => part.close()
