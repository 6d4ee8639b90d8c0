// For tests in which nothing is published: every order rejects with an error.
import type { PublishClient } from '../../../src/publish/process/publish-client.ts'

export const rejectingPublishClient: PublishClient = {
  order: () => Promise.reject(new Error('nothing is published here')),
  close: () => Promise.resolve(),
}
