import { createSetTransferFeeInstruction } from '@solana/spl-token'
import { type ChainFixture, stage, transferFee } from './chainFixture.ts'

/** Schedules another transfer fee of the mint. It takes effect after two epochs. */
export async function scheduleFee(fixture: ChainFixture, basisPoints: number): Promise<void> {
  const { mint, issuer, program } = fixture
  const { maximumBaseUnits } = transferFee
  const change = createSetTransferFeeInstruction(mint, issuer.publicKey, [], basisPoints, maximumBaseUnits, program)
  await stage(fixture, [change])
}

/** Advances to the last slot in which a scheduled fee is not in effect. */
export async function reachLastSlotBefore({ chain, connection }: ChainFixture): Promise<void> {
  const { slotIndex, slotsInEpoch } = await connection.getEpochInfo('processed')
  chain.advanceSlots(2 * slotsInEpoch - slotIndex - 1)
}
