// Who calls the sandbox, as the request's header says it.
import type { Account, App, Installation, Permissions, Repo } from '../world.ts'

export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'app'; readonly app: App }
  | { readonly kind: 'user'; readonly account: Account }
  | {
      readonly kind: 'installation'
      readonly installation: Installation
      readonly permissions: Permissions
      /** Undefined: all that the installation has. */
      readonly repositories: ReadonlySet<Repo> | undefined
    }
