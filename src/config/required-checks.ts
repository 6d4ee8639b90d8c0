// Checks of other Apps that must succeed before a pull request is merged. The settings identify an App by ID, because any App can
// use any check name.
import { z } from 'zod'

export const requiredChecksSchema = z
  .array(
    z.strictObject({
      app: z
        .number()
        .int()
        .positive()
        .describe('ID of the App that reports the check. The ID of GitHub Actions is 15368.'),
      name: z.string().min(1).describe('Name of the check run, exactly as shown on GitHub.'),
    }),
  )
  .max(50)
  .default([])
  .describe(
    'Checks from other Apps that must succeed on the head of a pull request before it is merged. catalog-bot waits for missing checks.',
  )

export type RequiredExternalCheck = z.output<typeof requiredChecksSchema>[number]
