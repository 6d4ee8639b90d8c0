import { expect, test } from '@jest/globals'
import { parseClientIpAddress } from '../../../src/web/server/repository-access.ts'

const getClientIpAddress = (remoteAddress: string, forwarded?: string) =>
  parseClientIpAddress({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as never)

test('the zone of an IPv6 address, which is text of any length, does not identify a client', () => {
  expect(getClientIpAddress('10.0.0.1', `fe80::1%${'z'.repeat(5000)}`)).toBe(
    getClientIpAddress('10.0.0.1', 'fe80::1'),
  )
  expect(getClientIpAddress('fe80::1%eth0')).toBe(getClientIpAddress('fe80::1'))
  expect(getClientIpAddress('10.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
})
