// The caller of the sandbox, from the request's header.
import type { MockAccount, MockApp, Installation, AppPermissions, MockRepository } from '../github-data.ts'

export type ApiCaller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'app'; readonly app: MockApp }
  | { readonly kind: 'user'; readonly account: MockAccount }
  | {
      readonly kind: 'installation'
      readonly installation: Installation
      readonly permissions: AppPermissions
      /** Undefined: everything that the installation has. */
      readonly repositories: ReadonlySet<MockRepository> | undefined
    }
