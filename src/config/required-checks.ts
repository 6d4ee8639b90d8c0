// Checks of other Apps that must be green before a pull request is merged. An App is named by its id: a name alone is
// anybody's, and so is no proof.
import { z } from 'zod'

export const requiredChecksSchema = z
  .array(
    z.strictObject({
      app: z
        .number()
        .int()
        .positive()
        .describe('Id of the App that reports the check. GitHub Actions is 15368.'),
      name: z.string().min(1).describe('Name of the check run, exactly as GitHub shows it.'),
    }),
  )
  .max(50)
  .default([])
  .describe(
    'Checks of other Apps that must be green on the head of a pull request before it is merged. A check that is not there is waited for.',
  )

export type RequiredOtherCheck = z.output<typeof requiredChecksSchema>[number]
