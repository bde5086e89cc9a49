import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * Arguments: the root's file, the HTTPS port, hostnames. Prints a line for each: the hostname, a tab, what Java
 * reports.
 */
public class Ask {
  public static void main(String[] args) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (FileInputStream root = new FileInputStream(args[0])) {
      store.setCertificateEntry("root", CertificateFactory.getInstance("X.509").generateCertificate(root));
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    int port = Integer.parseInt(args[1]);
    for (int index = 2; index < args.length; index++) {
      System.out.println(args[index] + "\t" + ask(context, args[index], port));
    }
  }

  private static String ask(SSLContext context, String hostname, int port) {
    try (Socket raw = new Socket("127.0.0.1", port);
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(raw, hostname, port, true)) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      parameters.setApplicationProtocols(new String[] {"http/1.1"});
      socket.setSSLParameters(parameters);
      String request = "GET / HTTP/1.1\r\nHost: " + hostname + "\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes());
      String line = new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
      return line.contains(" 200 ") ? "accepts it" : line;
    } catch (Exception error) {
      return error.getMessage().replace('\n', ' ');
    }
  }
}
