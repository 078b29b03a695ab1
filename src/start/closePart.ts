export const closePart = (part: { close(): Promise<void> }): Promise<void> => part.close()
