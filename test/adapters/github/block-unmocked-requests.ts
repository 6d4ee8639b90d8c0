// GitHub as nock plays it, for the tests of one file.
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'
import nock from 'nock'

/**
 * No request of this file's tests gets further than to nock, and each test asks for all that it said it would.
 *
 * Nock stands between a process and all its sockets from its import on, and the next test file in this process wants its own
 * (gRPC's never answer). A file that comes later gets the same nock, which has been switched off by then.
 */
export function blockUnmockedRequests(): void {
  beforeAll(() => {
    if (!nock.isActive()) nock.activate()
    nock.disableNetConnect()
  })
  afterAll(() => {
    nock.enableNetConnect()
    nock.restore()
  })
  afterEach(() => {
    const pending = nock.pendingMocks()
    nock.cleanAll()
    expect(pending).toEqual([])
  })
}
