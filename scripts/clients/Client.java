// Client.java KIND URL: one GET with the timeout settings of Java itself.
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Locale;

class Client {
    public static void main(String[] args) {
        double read = Double.parseDouble(System.getenv("READ"));
        double connect = Double.parseDouble(System.getenv("CONNECT"));
        long begun = System.nanoTime();
        try {
            URI uri = URI.create(args[1]);
            if (args[0].equals("client")) {
                HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofMillis((long) (connect * 1000))).build();
                HttpRequest request = HttpRequest.newBuilder(uri).timeout(Duration.ofMillis((long) (read * 1000))).build();
                client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            } else {
                HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
                connection.setConnectTimeout((int) (connect * 1000));
                connection.setReadTimeout((int) (read * 1000));
                connection.getInputStream().readAllBytes();
            }
            tell(begun);
            System.exit(0);
        } catch (Exception e) {
            tell(begun);
            System.err.println(e);
            System.exit(1);
        }
    }

    private static void tell(long begun) {
        System.out.printf(Locale.ROOT, "took %.3f%n", (System.nanoTime() - begun) / 1e9);
    }
}
