// Whether the merge of a pull request has been published, for its comment and its page.
import { z } from 'zod'
import { defineStateNamespace } from '../ports/state.ts'

const pullPublicationSchema = z.object({
  state: z.enum(['published', 'pending', 'failed']),
  lines: z.array(z.string()),
  /** False if the process may have died before it wrote the comment. */
  isShown: z.boolean(),
})
export type PullPublicationStatus = Readonly<z.infer<typeof pullPublicationSchema>>
export const pullPublicationStateNamespace = defineStateNamespace<PullPublicationStatus>(
  'publication of a pull request',
  {
    version: 1,
    read: (stored) => pullPublicationSchema.safeParse(stored).data,
  },
)
