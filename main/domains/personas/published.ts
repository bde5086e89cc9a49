/** What a provider’s documentation says about its customers’ records and their certificates, in 2026. */
interface Published {
  /** The target of CNAMEs. Where each customer has one of his own: an example below the same parent. */
  target: string;
  /** Other names that lead there. */
  others?: readonly string[];
  /** The addresses for an apex; none where they are not the same for all customers. */
  addresses?: readonly string[];
  /** The CAs that issue its certificates, by their names in CAA records. */
  issuers: readonly string[];
}

const LETS_ENCRYPT = 'letsencrypt.org';
const GOOGLE = 'pki.goog';

/** By the id of the persona. The platform’s own has none: its records lead to Vivarium. */
export const PUBLISHED: Readonly<Record<string, Published | undefined>> = {
  // vercel.com/docs/domains/set-up-custom-domain, with the name and the address of other projects.
  vercel: {
    target: 'cname.vercel-dns-0.com',
    others: ['cname.vercel-dns.com'],
    addresses: ['76.76.21.21', '216.198.79.1'],
    issuers: [LETS_ENCRYPT],
  },
  // docs.netlify.com/manage/domains/configure-domains/configure-external-dns
  netlify: {
    target: 'your-site.netlify.app',
    others: ['apex-loadbalancer.netlify.com'],
    addresses: ['75.2.60.5'],
    issuers: [LETS_ENCRYPT],
  },
  // docs.github.com/en/pages/configuring-a-custom-domain-for-your-github-pages-site
  'github-pages': {
    target: 'your-name.github.io',
    addresses: [
      ...['185.199.108.153', '185.199.109.153', '185.199.110.153', '185.199.111.153'],
      ...['2606:50c0:8000::153', '2606:50c0:8001::153', '2606:50c0:8002::153', '2606:50c0:8003::153'],
    ],
    issuers: [LETS_ENCRYPT],
  },
  // developers.cloudflare.com/ssl/reference/certificate-authorities; the target is a name of the SaaS provider.
  cloudflare: { target: 'customers.your-saas.example', issuers: [LETS_ENCRYPT, GOOGLE, 'ssl.com'] },
  // mintlify.com/docs/customize/custom-domain, with the name that it had before.
  mintlify: { target: 'cname.mintlify.builders', others: ['cname.mintlify-dns.com'], issuers: [LETS_ENCRYPT] },
  // fly.io/docs/networking/custom-domain; the addresses are those of one app.
  fly: { target: 'your-app.fly.dev', issuers: [LETS_ENCRYPT] },
  // docs.render.com/custom-domains
  render: { target: 'your-service.onrender.com', addresses: ['216.24.57.1'], issuers: [LETS_ENCRYPT, GOOGLE] },
  // docs.railway.com/networking/domains
  railway: { target: 'your-service.up.railway.app', issuers: [LETS_ENCRYPT] },
};
