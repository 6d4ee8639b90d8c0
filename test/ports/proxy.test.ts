// Which proxy, if any, the bot uses for a URL.
import { describe, expect, test } from '@jest/globals'
import { findProxyForUrl } from '../../src/ports/proxy.ts'

const httpsProxy = 'http://proxy.example:3128'
const selectProxyForUrl = (url: string, environment: Record<string, string>) =>
  findProxyForUrl(new URL(url), environment)

describe('a proxy', () => {
  test.each([
    ['nothing is set', {}, 'https://github.com/', undefined],
    ['the address is https', { HTTPS_PROXY: httpsProxy }, 'https://github.com/', httpsProxy],
    ['the address is plain http', { HTTPS_PROXY: httpsProxy }, 'http://registry.example/', undefined],
    ['the address is loopback', { HTTPS_PROXY: httpsProxy }, 'https://127.0.0.1:8443/', undefined],
    ['the address is localhost', { HTTPS_PROXY: httpsProxy }, 'https://localhost/', undefined],
    [
      'it is set for all schemes',
      { ALL_PROXY: 'proxy.example:8080' },
      'https://quay.io/',
      'http://proxy.example:8080',
    ],
    [
      'lowercase takes precedence',
      { HTTPS_PROXY: httpsProxy, https_proxy: 'http://b' },
      'https://quay.io/',
      'http://b:80',
    ],
    ['the proxy uses TLS', { HTTPS_PROXY: 'https://b' }, 'https://quay.io/', 'https://b:443'],
    [
      'an empty value is ignored',
      { https_proxy: '', HTTPS_PROXY: httpsProxy },
      'https://quay.io/',
      httpsProxy,
    ],
  ])('is selected if %s', (_what, environment, url, address) => {
    expect(selectProxyForUrl(url, environment)?.url).toBe(address)
  })

  test.each([
    ['*', 'https://github.com/', false],
    ['github.com', 'https://github.com/', false],
    ['GitHub.com ,quay.io', 'https://github.com./', false],
    ['github.com', 'https://api.github.com/', false],
    ['.github.com', 'https://api.github.com/', false],
    ['*.github.com', 'https://api.github.com/', false],
    ['hub.com', 'https://github.com/', true],
    ['github.com:8443', 'https://github.com/', true],
    ['github.com:443', 'https://github.com/', false],
    ['10.0.0.1', 'https://10.0.0.1/', false],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]/', false],
    ['', 'https://github.com/', true],
    [' , ', 'https://github.com/', true],
  ])('NO_PROXY %j and %s', (NO_PROXY, url, isBehind) => {
    expect(selectProxyForUrl(url, { HTTPS_PROXY: httpsProxy, NO_PROXY }) !== undefined).toBe(isBehind)
  })

  test('has its credential separate from its address', () => {
    expect(
      selectProxyForUrl('https://quay.io/', { HTTPS_PROXY: 'http://me:p%40ss%3A@proxy.example:3128' }),
    ).toEqual({
      url: httpsProxy,
      hostname: 'proxy.example',
      port: 3128,
      isTls: false,
      credential: { username: 'me', password: 'p@ss:' },
    })
  })

  test.each([
    'socks5://secret@proxy',
    'http://',
    'http://a:secret@b c',
    'http://u:%0asecret@b',
    'http://u:secret%@b',
    "http://secret';x",
  ])('%j is rejected without quoting it', (text) => {
    expect(() => selectProxyForUrl('https://quay.io/', { HTTPS_PROXY: text })).toThrow(
      /^HTTPS_PROXY is not a proxy URL/,
    )
    expect(() => selectProxyForUrl('https://quay.io/', { HTTPS_PROXY: text })).not.toThrow(/secret/)
  })
})
